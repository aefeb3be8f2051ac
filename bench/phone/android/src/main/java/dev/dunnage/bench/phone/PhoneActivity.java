package dev.dunnage.bench.phone;

import android.app.Activity;
import android.os.Build;
import android.os.Bundle;
import android.widget.Button;
import android.widget.CheckBox;
import android.widget.LinearLayout;
import android.widget.RadioButton;
import android.widget.RadioGroup;
import android.widget.ScrollView;
import android.widget.TextView;
import dev.dunnage.bench.Serializer;
import dev.dunnage.bench.mobile.BookAndVideo;
import java.io.File;
import java.io.FileWriter;
import java.io.IOException;
import java.io.Writer;
import org.json.JSONException;
import org.json.JSONObject;

/**
 * The paper's application: a button for each format, two radio buttons for the direction, a box for batches, and results that are saved.
 *
 * <p>Lines of bench/record.schema.json are added to phone.jsonl in the application's files. The layout is made here, so the module has no
 * resources.
 */
public class PhoneActivity extends Activity {
    private RadioButton serialize;
    private CheckBox batch;
    private CheckBox files;
    private TextView results;

    @Override
    public void onCreate(Bundle state) {
        super.onCreate(state);
        LinearLayout column = new LinearLayout(this);
        column.setOrientation(LinearLayout.VERTICAL);
        RadioGroup directions = new RadioGroup(this);
        serialize = named(new RadioButton(this), "Serialize");
        // A group knows its buttons by their IDs.
        serialize.setId(1);
        RadioButton deserialize = named(new RadioButton(this), "Deserialize");
        deserialize.setId(2);
        directions.addView(serialize);
        directions.addView(deserialize);
        directions.check(serialize.getId());
        column.addView(directions);
        batch = named(new CheckBox(this), "Batch of " + Trial.BATCH);
        column.addView(batch);
        files = named(new CheckBox(this), "XML and JSON in a file");
        column.addView(files);
        for (Serializer serializer : BookAndVideo.serializers()) {
            Button button = named(new Button(this), serializer.description().format());
            button.setOnClickListener(pressed -> measure(serializer));
            column.addView(button);
        }
        results = new TextView(this);
        column.addView(results);
        ScrollView scroll = new ScrollView(this);
        scroll.addView(column);
        setContentView(scroll);
    }

    private static <T extends TextView> T named(T view, String text) {
        view.setText(text);
        return view;
    }

    /** Measures both objects, shows the times, and saves them. */
    private void measure(Serializer serializer) {
        boolean inFile = files.isChecked() && serializer.description().encoding().equals("Text");
        try {
            for (String name : BookAndVideo.names()) {
                Trial trial = new Trial(serializer, name, inFile ? new File(getCacheDir(), "message") : null);
                int iterations = batch.isChecked() ? Trial.BATCH : 1;
                double[] sets = trial.run(serialize.isChecked(), iterations);
                String options = "two sets of " + iterations + ", in " + (inFile ? "a file" : "memory");
                save(serializer, name, trial.bytes(), sets, options);
            }
        } catch (Exception e) {
            results.append(serializer.description().format() + ": " + e + "\n");
        }
    }

    private void save(Serializer serializer, String name, int bytes, double[] sets, String options) throws IOException, JSONException {
        double best = Math.min(sets[0], sets[1]);
        String operation = serialize.isChecked() ? "serialize" : "deserialize";
        JSONObject spread = new JSONObject()
                .put("low", best)
                .put("high", Math.max(sets[0], sets[1]))
                .put("of", "range of the two sets");
        JSONObject time = record(serializer, name, operation, "ns", best, "ns", 2).put("spread", spread).put("options", options);
        JSONObject size = record(serializer, name, "serialize", "bytes", bytes, "bytes", 1);
        try (Writer lines = new FileWriter(new File(getFilesDir(), "phone.jsonl"), true)) {
            lines.write(size + "\n" + time + "\n");
        }
        String format = serializer.description().format();
        results.append(String.format("%s, %s, %s: %d bytes, %.1f µs%n", format, name, operation, bytes, best / 1000));
    }

    private static JSONObject record(
            Serializer serializer, String name, String operation, String metric, double value, String unit, int repetitions)
            throws JSONException {
        return new JSONObject()
                .put("record", 1)
                .put("suite", "phone")
                .put("target", "android")
                .put("payload", name)
                .put("format", serializer.description().format())
                .put("library", serializer.description().library())
                .put("operation", operation)
                .put("metric", metric)
                .put("value", value)
                .put("unit", unit)
                .put("repetitions", repetitions)
                .put("environment", Build.MANUFACTURER + " " + Build.MODEL + ", Android " + Build.VERSION.RELEASE)
                .put("source", "measured");
    }
}
